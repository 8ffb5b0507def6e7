"""The scripted model behind the real wire formats."""
