"""Two tabs stay in step: every change is told to all that listen."""

import asyncio
import json

import msgspec

from zslearn.serve.studio.edits import Kept
from zslearn.serve.studio.session import Events


def told(message):
    """Return the name and the data of an event."""
    event, data = message.decode().strip().split("\n")[-2:]
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_every_tab_hears_of_every_change(visitor):
    async def listen():
        events, ends = visitor.studio.events, asyncio.Event()
        tabs = [events.listen(b"hello", ends.is_set) for _ in range(2)]
        for tab in tabs:
            assert (await anext(tab)).endswith(b"hello")
        change = asyncio.to_thread(
            visitor.session.change,
            msgspec.convert({"op": "delete", "class": 3, "what": "delete"}, Kept),
            final=True,
            by="tab one",
        )
        view = await change
        for tab in tabs:
            name, data = told(await anext(tab))
            assert (name, data) == ("changed", {"revision": view.revision, "by": "tab one"})
        ends.set()
        assert [message async for message in tabs[0]] == []
        await tabs[1].aclose()

    asyncio.run(listen())


def test_a_tab_that_reads_nothing_costs_little():
    async def sleep():
        events = Events()
        tab = events.listen(b"", lambda: False)
        await anext(tab)
        for number in range(2000):
            events.publish("changed", {"revision": number})
        await asyncio.sleep(0)
        first = told(await anext(tab))
        assert first == ("changed", {"revision": 0})
        await tab.aclose()
        events.publish("changed", {"revision": 1})

    asyncio.run(sleep())


def test_a_step_of_a_slider_that_was_overtaken_is_not_computed(visitor):
    async def slide():
        studio, done = visitor.studio, []

        def step(number):
            return studio.run_newest(lambda: done.append(number) or b"", 3, False, "tab")

        block = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait():
            asyncio.run_coroutine_threadsafe(block.wait(), loop).result()

        first = asyncio.create_task(studio.run(wait))
        await asyncio.sleep(0.05)
        steps = [asyncio.create_task(step(number)) for number in range(5)]
        await asyncio.sleep(0.05)
        block.set()
        await first
        answers = await asyncio.gather(*steps)
        assert done == [4]
        assert answers[4] == b""
        assert all(b"superseded" in answer for answer in answers[:4])

    asyncio.run(slide())
