def order(needs):
    done = []
    while len(done) < len(needs):
        for n in needs:
            if n not in done and all(b in done for b in needs[n]):
                done.append(n)
                break
        else:
            return None
    return done
