break LOWER if x == 5
run
print x*(x+1) + i
stepi 2
print y
reverse-stepi
print t
info registers
