"""The vocabulary of networks in each framework, and how it trains and predicts."""
