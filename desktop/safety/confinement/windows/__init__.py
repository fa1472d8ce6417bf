"""A first wall for Windows: written, tried under Wine as far as that goes, and not used until it was proved there."""
