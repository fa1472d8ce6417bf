"""The page of Settings with the services that agents search the web with."""
