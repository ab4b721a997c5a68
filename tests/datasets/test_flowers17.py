import numpy as np
import pytest
from PIL import Image

from zslearn.datasets import flowers17_splits, load_flowers17, load_segmentation
from zslearn.exceptions import InvalidInputError, MissingFileError

COLORS = np.array([(128, 0, 0), (128, 128, 0), (0, 128, 0), (0, 0, 128), (0, 0, 0)], dtype=np.uint8)


def write_pair(root, name="a", mask=COLORS[None], size=None, labels="labels"):
    for part in ("images", labels):
        (root / part).mkdir(exist_ok=True)
    height, width = size or mask.shape[:2]
    Image.new("RGB", (width, height), "red").save(root / "images" / f"{name}.jpg")
    Image.fromarray(mask).save(root / labels / f"{name}.png")
    return root


def test_colors_of_the_masks_are_decoded(tmp_path):
    flowers = load_flowers17(write_pair(tmp_path))
    assert (len(flowers), flowers.name, flowers.coding) == (1, "flowers17", "flowers17")
    assert flowers.mask(0).tolist() == [[1, 0, 0, 0, -1]]
    assert flowers.mask(0, undefined="drop").tolist() == [[1, 0, 0, 0, -1]]
    assert flowers.mask(0, undefined="background").tolist() == [[1, 0, 0, 0, 0]]
    assert flowers.image(0).shape == (1, 5, 3)
    with pytest.raises(InvalidInputError, match="got 'ignore'"):
        flowers.mask(0, undefined="ignore")


def test_pictures_and_masks_are_scaled_alike(tmp_path):
    mask = np.repeat(np.repeat(COLORS[:2][None], 40, axis=0), 30, axis=1)
    flowers = load_flowers17(write_pair(tmp_path, mask=mask))
    assert flowers.image(0, height=20).shape == (20, 30, 3)
    scaled = flowers.mask(0, height=20)
    np.testing.assert_array_equal(scaled, np.repeat([[1, 0]], 15, axis=1).repeat(20, axis=0))


def test_plain_masks_are_white_on_black(tmp_path):
    black = np.zeros((2, 2, 3), np.uint8)
    write_pair(tmp_path, "a", black, labels="masks")
    write_pair(tmp_path, "b", np.where(np.eye(2)[..., None] > 0, 255, black), labels="masks")
    pairs = load_segmentation(tmp_path)
    assert pairs.coding == "binary"
    assert pairs.mask(1).tolist() == [[1, 0], [0, 1]]
    assert load_segmentation(tmp_path, coding="flowers17").mask(0).tolist() == [[-1, -1]] * 2


def test_the_coding_is_seen_from_the_masks(tmp_path):
    assert load_segmentation(write_pair(tmp_path)).coding == "flowers17"


def test_wrong_folders_are_refused(tmp_path):
    with pytest.raises(MissingFileError, match=r"no folder .*images"):
        load_flowers17(tmp_path / "nowhere")
    (tmp_path / "images").mkdir()
    with pytest.raises(MissingFileError, match="has no folder 'masks'"):
        load_flowers17(tmp_path)
    write_pair(tmp_path)
    (tmp_path / "images" / "a.jpg").rename(tmp_path / "images" / "b.jpg")
    with pytest.raises(InvalidInputError, match="has a mask of the same name"):
        load_flowers17(tmp_path)
    with pytest.raises(InvalidInputError, match="got 'gray'"):
        load_segmentation(tmp_path, coding="gray")


def test_wrong_masks_are_refused(tmp_path):
    write_pair(tmp_path, size=(2, 5))
    with pytest.raises(InvalidInputError, match="5 × 1 pixels, its picture has 5 × 2"):
        load_flowers17(tmp_path).mask(0)
    write_pair(tmp_path, mask=np.full((1, 1, 3), 7, np.uint8))
    with pytest.raises(InvalidInputError, match=r"color \(7, 7, 7\)"):
        load_flowers17(tmp_path).mask(0)
    (tmp_path / "images" / "a.jpg").write_bytes(b"")
    with pytest.raises(InvalidInputError, match="cannot be read as a picture"):
        load_flowers17(tmp_path).image(0)


def test_a_photograph_taken_upright_is_turned_like_its_mask(tmp_path):
    write_pair(tmp_path, mask=np.repeat(COLORS[:1, None], 3, axis=0))
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (3, 1)).save(tmp_path / "images" / "a.jpg", exif=exif)
    flowers = load_flowers17(tmp_path)
    assert flowers.image(0).shape == (3, 1, 3)
    assert flowers.mask(0).shape == (3, 1)


def test_splits_are_those_of_the_protocol_and_do_not_change():
    splits = flowers17_splits()
    assert [split.seed for split in splits] == [0, 1, 2, 3, 4]
    for split in splits:
        parts = (split.train, split.validation, split.test)
        assert [len(part) for part in parts] == [200, 30, 616]
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(846))
    assert splits[0].validation[:5].tolist() == [41, 64, 101, 109, 120]
    with pytest.raises(InvalidInputError, match="leave none of 230"):
        flowers17_splits(230)


@pytest.mark.data
def test_the_real_pictures(data_dir):
    flowers = load_flowers17(data_dir / "flowers17")
    assert len(flowers) == 846
    masks = np.stack([flowers.mask(i, height=100) for i in range(0, 846, 4)])
    assert masks.shape == (212, 100, 100)
    # Shares of all pixels of the 846 masks at full size, counted from their colors.
    shares = [(masks == value).mean() for value in (1, 0, -1)]
    np.testing.assert_allclose(shares, [0.274, 0.591, 0.135], atol=0.02)
