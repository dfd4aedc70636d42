n = int(input())
result = 1
for i in range(2, n):
    result *= i
print(result)
