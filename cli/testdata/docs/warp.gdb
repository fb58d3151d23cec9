stepw 5
stepw
info cuda lanes
info cuda stack
print %p
