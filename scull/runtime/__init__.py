"""What holds and moves values: scopes, buffers, devices, native code."""
