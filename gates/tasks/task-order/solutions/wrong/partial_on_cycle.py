def order(needs):
    done = []
    while True:
        possible = [n for n in needs if n not in done and all(b in done for b in needs[n])]
        if not possible:
            return done
        done.append(min(possible))
