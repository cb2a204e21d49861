"""Programs: what a network is before it runs, recorded, printed and verified."""
