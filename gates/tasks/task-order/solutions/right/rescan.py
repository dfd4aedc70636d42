def order(needs):
    done = []
    while len(done) < len(needs):
        possible = [n for n in needs if n not in done and all(b in done for b in needs[n])]
        if not possible:
            return None
        done.append(min(possible))
    return done
