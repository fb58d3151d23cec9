stepw 4
stepw
info cuda lanes
info cuda stack
info cuda strip
print %many
