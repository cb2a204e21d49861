"""What older releases of Paddle wrote, in the words of today."""
