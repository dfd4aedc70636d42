import asyncio


def finish_order(jobs):
    done = []

    async def job(name, steps):
        for _ in range(steps):
            await asyncio.sleep(0)
        done.append(name)

    async def main():
        await asyncio.wait([asyncio.create_task(job(n, s)) for n, s in jobs])

    asyncio.run(main())
    return done
