"""What the test of the build cache packs into a wheel."""
