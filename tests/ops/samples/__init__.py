"""The samples of the operators, a module a family."""
