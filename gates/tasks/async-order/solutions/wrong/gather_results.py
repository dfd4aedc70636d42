import asyncio


async def job(name, steps):
    for _ in range(steps):
        await asyncio.sleep(0)
    return name


async def main(jobs):
    return list(await asyncio.gather(*(job(n, s) for n, s in jobs)))


def finish_order(jobs):
    return asyncio.run(main(jobs))
