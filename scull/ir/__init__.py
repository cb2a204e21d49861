"""Programs: what a network is, before it runs. Program, Block, Operator, Variable; recording,
printing, verifying.
"""
