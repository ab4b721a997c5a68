import json

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Eight pictures of discs with binary masks."""
    root = tmp_path_factory.mktemp("discs")
    for part in ("images", "masks"):
        (root / part).mkdir()
    y, x = np.mgrid[:32, :40]
    colors = np.array([[40, 120, 40], [220, 60, 60]])
    for i in range(8):
        rng = np.random.default_rng(i)
        mask = (y - 12 - i % 4) ** 2 + (x - 16 - i) ** 2 < 70
        picture = colors[mask.astype(int)] + rng.integers(-30, 30, (32, 40, 3))
        Image.fromarray(picture.astype(np.uint8)).save(root / "images" / f"p{i}.png")
        Image.fromarray(mask.astype(np.uint8) * 255).save(root / "masks" / f"p{i}.png")
    return root


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    from tests.streams import SeparateRunner
    from zslearn.cli import cli

    path = tmp_path_factory.mktemp("model") / "m.zsl"
    arguments = ["segment", "fit", folder, "--first", 5, "--height", 32, "--save", path, "--json"]
    result = SeparateRunner().invoke(cli, list(map(str, arguments)))
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert (facts["pictures"], facts["pixels"], facts["mapping"]) == (5, 5 * 32 * 40, "sae")
    assert (facts["shuffle"], facts["seed"]) == (True, 0)
    return path


def test_masks_and_overlays_are_written_at_the_size_of_the_pictures(run, folder, model, tmp_path):
    result = run("segment", "apply", model, folder / "images", "--out", tmp_path, "--overlay")
    assert result.exit_code == 0, result.stderr
    assert "8 masks written" in result.stdout
    mask = np.asarray(Image.open(tmp_path / "p7.png"))
    true = np.asarray(Image.open(folder / "masks" / "p7.png"))
    assert set(np.unique(mask)) == {0, 255}
    assert (mask == true).mean() > 0.95
    overlay = np.asarray(Image.open(tmp_path / "p7_overlay.png"))
    assert overlay.shape == (32, 40, 3)
    assert (overlay == (255, 40, 40)).all(axis=2).any()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_new_pictures_are_compared_with_their_masks(run, folder, model):
    result = run("segment", "evaluate", model, folder, "--skip", 5, "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    unlearned = sorted(np.random.default_rng(0).permutation(8)[5:].tolist())
    assert [row["picture"] for row in answer["pictures"]] == [f"p{i}.png" for i in unlearned]
    assert unlearned != [5, 6, 7]
    assert answer["mean"]["overlap"] > 0.8
    assert answer["mean"]["accuracy"] > 0.95
    assert answer["mean"]["loss"] < 0.4
    table = run("segment", "evaluate", model, folder, "--skip", 5)
    assert "mean of 3" in table.stdout
    assert table.stderr == "Left out the first 5 pictures, in random order (seed 0).\n"


def test_the_first_pictures_are_drawn_by_the_seed_and_the_others_are_those_skipped(
    run, folder, tmp_path, monkeypatch
):
    from zslearn.datasets import SegmentationDataset

    read, image = [], SegmentationDataset.image

    def noted(self, i, **options):
        read.append(self.image_files[i].name)
        return image(self, i, **options)

    monkeypatch.setattr(SegmentationDataset, "image", noted)
    names = {path.name for path in (folder / "images").iterdir()}
    learned = {}
    for order in (["--seed", 0], ["--seed", 1], ["--no-shuffle"]):
        saved, height = tmp_path / "m.zsl", ["--height", 32]
        told = run("segment", "fit", folder, "--first", 4, *order, *height, "--save", saved)
        assert told.exit_code == 0, told.stderr
        learned[str(order)] = set(read)
        read.clear()
        assert run("segment", "evaluate", saved, folder, "--skip", 4, *order).exit_code == 0
        assert set(read) == names - learned[str(order)]
        read.clear()
    assert "4 pictures of 8, in order of names" in told.stdout
    assert len({frozenset(found) for found in learned.values()}) == 3
    assert learned["['--no-shuffle']"] == {"p0.png", "p1.png", "p2.png", "p3.png"}


def test_other_mappings(run, folder, tmp_path):
    saved = tmp_path / "m.zsl"
    arguments = ["--height", 32, "--save", saved]
    assert run("segment", "fit", folder, "--mapping", "lda", *arguments).exit_code == 0
    assert run("segment", "evaluate", saved, folder).exit_code == 0
    wrong = run("segment", "fit", folder, "--mapping", "lda", "--lam", 3, *arguments)
    assert wrong.exit_code == 1
    assert "lda has no λ" in wrong.stderr


def test_an_unreadable_picture_is_skipped_and_told(run, folder, model, tmp_path):
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no picture at all")
    result = run("segment", "apply", model, broken, folder / "images" / "p0.png", "--out", tmp_path)
    assert result.exit_code == 1
    assert "broken.jpg cannot be read as a picture" in result.stderr
    assert "1 of 2 pictures could not be segmented" in result.stderr
    assert (tmp_path / "p0.png").exists()
    assert not (tmp_path / "broken.png").exists()


def test_wrong_folders_and_files_end_in_one_line(run, folder, model, tmp_path):
    def error(*arguments):
        result = run("segment", *arguments)
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        return result.stderr

    save = ["--save", tmp_path / "m.zsl"]
    assert "no folder" in error("fit", tmp_path / "nowhere", *save)
    (tmp_path / "images").mkdir()
    assert "has no folder 'masks'" in error("fit", tmp_path, *save)
    (tmp_path / "masks").mkdir()
    assert "has a mask of the same name" in error("fit", tmp_path, *save)
    Image.new("RGB", (4, 4)).save(tmp_path / "images" / "a.png")
    Image.new("RGB", (4, 5), "white").save(tmp_path / "masks" / "a.png")
    assert "4 × 5 pixels, its picture has 4 × 4" in error("fit", tmp_path, *save)
    assert not (tmp_path / "m.zsl").exists()
    assert "There is no folder" in error("fit", folder, "--save", tmp_path / "no" / "m.zsl")
    assert "is a folder" in error("fit", folder, "--save", tmp_path)
    assert "no file or folder" in error("apply", model, tmp_path / "no.jpg", "--out", tmp_path)
    assert "no pictures in" in error("apply", model, tmp_path / "masks" / "..", "--out", tmp_path)
    twice = [folder / "images" / "p0.png", folder / "masks" / "p0.png"]
    assert "two pictures are called 'p0'" in error("apply", model, *twice, "--out", tmp_path)
    assert "leaves none of 8" in error("evaluate", model, folder, "--skip", 8)


def test_a_model_of_another_kind_is_refused(run, folder, tmp_path):
    from zslearn.cluster import SAEMapping
    from zslearn.persistence import save

    save(SAEMapping().fit(np.eye(2), [0, 1]), tmp_path / "other.zsl")
    result = run("segment", "evaluate", tmp_path / "other.zsl", folder)
    assert result.exit_code == 1
    assert "holds a SAEMapping" in result.stderr
