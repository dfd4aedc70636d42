import sys


def main():
    data = sys.stdin.read().split()
    height, width = int(data[0]), int(data[1])
    cells = data[2:]
    top, bottom, left, right = 0, height - 1, 0, width - 1
    out = []
    while top <= bottom and left <= right:
        for c in range(left, right + 1):
            out.append(cells[top * width + c])
        top += 1
        for r in range(top, bottom + 1):
            out.append(cells[r * width + right])
        right -= 1
        if top <= bottom:
            for c in range(right, left - 1, -1):
                out.append(cells[bottom * width + c])
            bottom -= 1
        if left <= right:
            for r in range(bottom, top - 1, -1):
                out.append(cells[r * width + left])
            left += 1
    print(*out)


main()
