import sys


def main():
    counts = {}
    word = ""
    for c in sys.stdin.read() + " ":
        if "a" <= c <= "z" or "A" <= c <= "Z" or c == "'":
            word += c.lower()
        elif word:
            counts[word] = counts.get(word, 0) + 1
            word = ""
    for word in sorted(counts, key=lambda w: (-counts[w], w)):
        sys.stdout.write(f"{counts[word]} {word}\n")


if __name__ == "__main__":
    main()
