import asyncio


def finish_order(jobs):
    done: list[str] = []

    async def job(name: str, steps: int) -> None:
        for _ in range(steps):
            await asyncio.sleep(0)
        done.append(name)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for name, steps in jobs:
                group.create_task(job(name, steps))

    asyncio.run(main())
    return done
