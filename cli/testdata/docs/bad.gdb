break LOWER if x == 5 && z > 1
