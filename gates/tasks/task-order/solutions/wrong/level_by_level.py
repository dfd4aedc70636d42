def order(needs):
    done = []
    while len(done) < len(needs):
        level = sorted(n for n in needs if n not in done and all(b in done for b in needs[n]))
        if not level:
            return None
        done += level
    return done
