"""The files that are pushed: bytes from a seeded source, names as bytes."""

import hashlib
import os

MIB = 1 << 20


def make_file(folder, name, size, chance):
    path = os.path.join(os.fsencode(folder), name)
    with open(path, "xb") as file:
        while size > 0:
            piece = chance.randbytes(min(size, MIB))
            file.write(piece)
            size -= len(piece)
    return path


def make_folder(folder, chance, small):
    """Sixty files of different bytes; names and sizes that hurt are among them."""
    folder.mkdir()
    usual = (20_000, 60_000) if small else (2_000_000, 6_000_000)
    odd = ["🏔️ Föhn.jpg", "two\nlines.jpg", "a\ttab.jpg", "-rf", "a%2Fb"]
    names = [name.encode() for name in odd] + [b"not utf-8 \xff.jpg"]
    # The two ways to write one name: one code point for é, and e with an accent after it.
    names += [b"caf\xc3\xa9.jpg", b"cafe\xcc\x81.jpg"]
    names += [b"IMG_%04d.jpg" % number for number in range(48)]
    files = [make_file(folder, name, chance.randint(*usual), chance) for name in names]

    large = 18_000_000 if small else 100_000_000
    files += [
        make_file(folder, b"MOV_9000.mov", large, chance),
        make_file(folder, b"empty.jpg", 0, chance),
        make_file(folder, b"exactly 8 MiB.jpg", 8 * MIB, chance),
        make_file(folder, b"8 MiB and one.jpg", 8 * MIB + 1, chance),
    ]
    chance.shuffle(files)
    return files


def hashes(files):
    """The size of each file by its SHA-256."""
    sizes = {}
    for path in files:
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while piece := file.read(MIB):
                digest.update(piece)
        sizes[digest.hexdigest()] = os.path.getsize(path)
    return sizes
