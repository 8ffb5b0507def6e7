"""What carries batches of trials. One file each."""
