"""Every operator is tried over its samples."""
