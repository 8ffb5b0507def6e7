"""How a scripted model reacts to trouble. One file each."""
