n = int(input())
result = n
for i in range(2, n):
    result *= i
print(result)
