"""The licences of what the app is made of."""
