import asyncio


def finish_order(jobs):
    done = []

    async def main():
        for name, steps in jobs:
            for _ in range(steps):
                await asyncio.sleep(0)
            done.append(name)

    asyncio.run(main())
    return done
