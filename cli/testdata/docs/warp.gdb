stepw 4
stepw
info cuda lanes
info cuda stack
print %many
