"""A small WordNet, written in the format of wndb(5WN)."""

LICENSE = "  1 This software and database is being provided to you, the LICENSEE, by nobody.  \n"

# key: (synonyms, kinds it belongs to, meaning); senses of a word are in this order.
SYNSETS = {
    "entity": (["entity"], [], "that which exists"),
    "wax": (["sealing_wax", "seal"], ["entity"], "fastener (of old letters)"),
    "animal": (["animal", "beast"], ["entity"], "a living organism; it moves"),
    "mammal": (["mammal"], ["animal"], "a warm-blooded vertebrate"),
    "equine": (["equine"], ["mammal"], "hoofed mammals"),
    "horse": (["horse", "Equus_caballus"], ["equine"], "a solid-hoofed quadruped"),
    "zebra": (["zebra"], ["equine"], "striped African equine"),
    "seal": (["seal"], ["mammal"], "a marine mammal"),
    "mouse": (["mouse"], ["mammal"], "a small rodent"),
    "pet": (["pet"], ["animal"], "kept at home"),
    "goldfish": (["goldfish"], ["pet", "animal"], "a golden fish"),
    "polar_bear": (["polar_bear", "ice_bear"], ["mammal"], "a white bear"),
    "bear": (["bear"], ["mammal"], "a massive mammal"),
}


def write_wordnet(folder):
    """Write index.noun, data.noun and noun.exc; return the offset of each synset."""
    offsets = dict.fromkeys(SYNSETS, 0)
    for _ in range(2):  # offsets have eight digits, so the second pass knows where lines start
        lines, position = [LICENSE], len(LICENSE)
        for key in SYNSETS:
            offsets[key] = position
            lines.append(_data_line(key, offsets))
            position += len(lines[-1].encode())
    (folder / "data.noun").write_text("".join(lines))
    senses = {}
    for key, (words, _, _) in SYNSETS.items():
        for word in words:
            senses.setdefault(word.lower(), []).append(offsets[key])
    index = [
        f"{lemma} n {len(found)} 1 @ {len(found)} 0 {' '.join(f'{o:08d}' for o in found)}  \n"
        for lemma, found in sorted(senses.items())
    ]
    (folder / "index.noun").write_text("".join([LICENSE, *index]))
    (folder / "noun.exc").write_text("mice mouse\noxen ox\n")
    return offsets


def _data_line(key, offsets):
    words, kinds, gloss = SYNSETS[key]
    spelled = " ".join(f"{word} 0" for word in words)
    pointers = "".join(f" @ {offsets[kind]:08d} n 0000" for kind in kinds) + " ~ 00000000 n 0000"
    return (
        f"{offsets[key]:08d} 05 n {len(words):02x} {spelled} {len(kinds) + 1:03d}{pointers} "
        f"| {gloss}  \n"
    )
