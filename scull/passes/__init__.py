"""Passes: functions from Programs to Programs."""
