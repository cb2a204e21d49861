"""scull"""
