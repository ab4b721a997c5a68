"""Public archives: downloaded once, checked, unpacked, kept in the cache folder."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import IO

from zslearn._files import damaged, inside, replacing, replacing_folder
from zslearn._optional import require
from zslearn._parameters import check_flags
from zslearn.datasets.awa import load_awa
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.datasets.xlsa17 import load_xlsa17
from zslearn.exceptions import DownloadError, InvalidInputError, did_you_mean


def unpack(archive: Path, target: Path) -> Path:
    """Unpack a zip or tar file into the folder `target`, which appears when it is complete."""
    with replacing_folder(target) as folder:
        with damaged(archive, "archive"):
            if zipfile.is_zipfile(archive):
                _unzip(archive, folder)
            elif tarfile.is_tarfile(archive):
                _untar(archive, folder)
            else:
                raise InvalidInputError(f"{archive} is neither a zip nor a tar file.")
    return target


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            path = _path_of(member.filename, archive, folder)
            if not member.is_dir():
                with file.open(member) as source:
                    _write(path, source)


def _untar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as file:
        for member in file:
            path = _path_of(member.name, archive, folder)
            if not (member.isfile() or member.isdir()):
                raise InvalidInputError(
                    f"{archive} holds {member.name!r}, which is neither a file nor a folder; it "
                    "was not unpacked."
                )
            # Only the content of files is written: no owners, modes or links are kept.
            source = file.extractfile(member)
            if source is not None:
                _write(path, source)


def _write(path: Path, source: IO[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(source, target)


def _path_of(name: str, archive: Path, folder: Path) -> Path:
    """Return where a member is written, refusing one outside the folder."""
    try:
        return inside(folder, name)
    except InvalidInputError as error:
        raise InvalidInputError(f"{archive}: {error} It was not unpacked.") from error


PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Archive:
    """Where an archive is, its SHA-256 if it is known, and how large it is."""

    url: str
    file: str
    size: str
    sha256: str | None = None


ARCHIVES = {
    "xlsa17": Archive(
        "http://datasets.d2.mpi-inf.mpg.de/xian/xlsa17.zip", "xlsa17.zip", "about 0.9 GB"
    ),
    "awa2-base": Archive("https://cvml.ista.ac.at/AwA2/AwA2-base.zip", "AwA2-base.zip", "32 kB"),
    "awa2-features": Archive(
        "https://cvml.ista.ac.at/AwA2/AwA2-features.zip", "AwA2-features.zip", "about 0.3 GB"
    ),
    "awa2-images": Archive(
        "https://cvml.ista.ac.at/AwA2/AwA2-data.zip", "AwA2-data.zip", "about 13 GB"
    ),
    "cub-images": Archive(
        "https://data.caltech.edu/records/65de6-vp158/files/CUB_200_2011.tgz",
        "CUB_200_2011.tgz",
        "1.15 GB",
        "0c685df5597a8b24909f6a7c9db6d11e008733779a671760afef78feb49bf081",
    ),
}


def fetch_archive(name: str, data_home: PathLike | None = None, *, progress: bool = True) -> Path:
    """Download and unpack a public archive, or find it in the cache folder.

    Parameters
    ----------
    name : {"xlsa17", "awa2-base", "awa2-features", "awa2-images", "cub-images"}
        The archive. SHA-256 is checked for "cub-images". For the others none is published, so the
        first download is trusted: its hash is kept in a ``.sha256`` file next to it, and a copy
        that differs later is refused.
    data_home : path-like, default=None
        Cache folder; None means ``$ZSLEARN_DATA_HOME``, or else the user's cache folder. An
        archive or an unpacked folder that is already there is used without the network.
    progress : bool, default=True
        Whether to show a bar on stderr.

    Returns
    -------
    Path
        Folder with the unpacked files.

    Raises
    ------
    DownloadError
        If the download fails; the message says how to do it by hand. Nothing half-written is left
        behind.
    InvalidInputError
        If the name is unknown, or the archive is damaged or not the expected one.
    MissingExtraError
        If pooch is not installed (``pip install 'zslearn[data]'``).

    Examples
    --------
    >>> from zslearn.datasets import fetch_archive
    >>> fetch_archive("awa2-base")  # doctest: +SKIP
    PosixPath('/home/me/.cache/zslearn/awa2-base')
    """
    check_flags(progress=progress)
    if name not in ARCHIVES:
        hint = did_you_mean(name, ARCHIVES)
        raise InvalidInputError(
            f"There is no archive {name!r}; there are {', '.join(ARCHIVES)}.{hint}"
        )
    folder = data_folder(data_home)
    if (folder / name).is_dir():
        return folder / name
    archive = ARCHIVES[name]
    path = folder / archive.file
    if path.is_file():
        _check_hash(path, archive)
        return unpack(path, folder / name)
    _download(archive, folder, progress=progress)
    try:
        unpacked = unpack(path, folder / name)
        _keep_hash(path)
        return unpacked
    except InvalidInputError as error:
        path.unlink()
        raise DownloadError(archive.url, archive.size, str(path), error) from error


def fetch_xlsa17(
    name: str,
    features: str | None = "res101",
    semantics: str = "att_splits",
    *,
    data_home: PathLike | None = None,
    progress: bool = True,
) -> ZeroShotDataset:
    """Download the xlsa17 benchmark once and load one of its data sets.

    Parameters
    ----------
    name : {"AWA1", "AWA2", "CUB", "SUN", "APY"}
        The data set.
    features, semantics : str
        As in :func:`load_xlsa17`.
    data_home, progress
        As in :func:`fetch_archive`.

    Returns
    -------
    ZeroShotDataset
        What :func:`load_xlsa17` returns.

    Examples
    --------
    >>> from zslearn.datasets import fetch_xlsa17
    >>> fetch_xlsa17("CUB").split("proposed")  # doctest: +SKIP
    ClassSplit(150 seen, 50 unseen, 7057 train rows, 1764 test_seen rows)
    """
    folder = fetch_archive("xlsa17", data_home, progress=progress)
    found = {path.parent.name: path.parent for path in sorted(folder.rglob("att_splits.mat"))}
    if name not in found:
        raise InvalidInputError(
            f"xlsa17 has no data set {name!r}; it has {', '.join(found) or 'none'}."
        )
    return load_xlsa17(found[name], features, semantics)


def fetch_awa2(
    features: str | None = None, *, data_home: PathLike | None = None, progress: bool = True
) -> ZeroShotDataset:
    """Download Animals with Attributes 2 once and load it.

    Parameters
    ----------
    features : {"ResNet101"} or None, default=None
        Features to load; None takes the small archive of attributes and class lists only.
    data_home, progress
        As in :func:`fetch_archive`.

    Returns
    -------
    ZeroShotDataset
        What :func:`load_awa` returns.

    Examples
    --------
    >>> from zslearn.datasets import fetch_awa2
    >>> fetch_awa2().signatures.shape  # doctest: +SKIP
    (50, 85)
    """
    base = fetch_archive("awa2-base", data_home, progress=progress)
    home = _holding(base, "classes.txt")
    if features is None:
        return load_awa(home)
    packed = fetch_archive("awa2-features", data_home, progress=progress)
    return load_awa(home, features, feature_home=_holding(packed, "Features"))


def data_folder(data_home: PathLike | None = None) -> Path:
    """Return the cache folder: as given, ``$ZSLEARN_DATA_HOME`` or the user's."""
    given = data_home or os.environ.get("ZSLEARN_DATA_HOME")
    if given:
        return Path(given).expanduser()
    return Path(_pooch().os_cache("zslearn"))


def _pooch() -> ModuleType:
    return require("pooch", extra="data", purpose="Downloading data sets")


def _holding(folder: Path, name: str) -> Path:
    """Return the folder inside `folder` that holds `name`."""
    found = sorted(folder.rglob(name), key=lambda path: len(path.parts))
    if not found:
        raise InvalidInputError(f"{folder} holds no {name}; delete it and fetch it again.")
    return found[0].parent


def _check_hash(path: Path, archive: Archive) -> None:
    """Refuse a local copy that is not the archive, or not the one downloaded first."""
    kept = _hash_file(path)
    known = archive.sha256 or (kept.read_text("ascii", "replace").strip() if kept.is_file() else "")
    if known and _pooch().file_hash(str(path)) != known:
        raise InvalidInputError(
            f"{path} is not the expected archive: its SHA-256 is not {known}. Delete it and "
            "fetch it again."
        )


def _keep_hash(path: Path) -> None:
    """Record the hash of an archive that was downloaded and could be unpacked."""
    with replacing(_hash_file(path)) as file:
        file.write(_pooch().file_hash(str(path)).encode() + b"\n")


def _hash_file(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _download(archive: Archive, folder: Path, *, progress: bool) -> None:
    """Download to a temporary name that becomes the archive when it is complete and checked."""
    pooch = _pooch()
    try:
        pooch.retrieve(
            archive.url,
            known_hash=archive.sha256,
            fname=archive.file,
            path=folder,
            downloader=pooch.HTTPDownloader(progressbar=_has_tqdm(progress)),
        )
    except (OSError, ValueError) as error:
        raise DownloadError(archive.url, archive.size, str(folder / archive.file), error) from error


def _has_tqdm(wanted: bool) -> bool:
    """Say whether a bar can be shown."""
    return wanted and find_spec("tqdm") is not None
