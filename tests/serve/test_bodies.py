import tracemalloc

from zslearn.serve.connections import SMALL_PART, BodyParts


def test_tiny_parts_cost_little_more_than_their_bytes():
    parts = BodyParts()
    tracemalloc.start()
    for i in range(200_000):
        parts.add(b"%02d" % (i % 100))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * parts.size
    assert parts.take() == b"".join(b"%02d" % i for i in range(100)) * 2000


def test_parts_of_all_sizes_stay_in_order_and_one_alone_is_not_copied():
    sizes = [1, SMALL_PART, 5, 5, SMALL_PART - 1, SMALL_PART + 1, 0, 3]
    pieces = [bytes([i]) * size for i, size in enumerate(sizes)]
    parts = BodyParts()
    for piece in pieces:
        parts.add(piece)
    assert (parts.size, parts.take(), parts.size) == (sum(sizes), b"".join(pieces), 0)
    parts.add(pieces[1])
    assert parts.take() is pieces[1]
    assert parts.take() == b""
