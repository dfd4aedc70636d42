"""The scratch folder between cases: its size, and emptying it whatever an answer has left there."""

import os
import time

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def empty(top, budget_s=5.0):
    """Removes everything below `top`. Returns False where something is left or time ran out.

    By descriptor, following no link, repairing modes. Folders are emptied by moving what they hold up to
    `top`, so that no depth is too deep.
    """
    deadline = time.monotonic() + budget_s
    moved = 0
    try:
        root = os.open(top, DIRECTORY)
    except OSError:
        return False
    try:
        while True:
            names = os.listdir(root)
            if not names:
                return True
            for name in names:
                if time.monotonic() > deadline:
                    return False
                if not _unlinked(name, root):
                    moved = _raise_contents(name, root, moved)
                    os.rmdir(name, dir_fd=root)
    except OSError:
        return False
    finally:
        os.close(root)


def _unlinked(name, folder):
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _raise_contents(name, root, moved):
    os.chmod(name, 0o700, dir_fd=root)
    folder = os.open(name, DIRECTORY, dir_fd=root)
    try:
        for inner in os.listdir(folder):
            if not _unlinked(inner, folder):
                os.chmod(inner, 0o700, dir_fd=folder)
                os.rename(inner, ".raised-%d" % moved, src_dir_fd=folder, dst_dir_fd=root)
                moved += 1
    finally:
        os.close(folder)
    return moved


MANY_FOLDERS = 500
"""So many folders still to be looked into count as too much: nobody asks a sandbox for that."""


def exceeds(top, limit_bytes, budget_s):
    """Whether what lies below `top` takes more than `limit_bytes`, or None where time ran out.

    By descriptor, so that neither deep paths nor folders that forbid reading hide anything.
    """
    deadline = time.monotonic() + budget_s
    total = 0
    waiting = [os.open(top, DIRECTORY)]
    try:
        while waiting:
            folder = waiting.pop()
            try:
                for entry in os.scandir(folder):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(_opened(entry.name, folder))
                    if total > limit_bytes or len(waiting) > MANY_FOLDERS:
                        return True
                    if time.monotonic() > deadline:
                        return None
            except OSError:
                continue  # gone or changed while the case runs; the look after its end sees what is left
            finally:
                os.close(folder)
        return False
    finally:
        for folder in waiting:
            os.close(folder)


def _opened(name, parent):
    try:
        return os.open(name, DIRECTORY, dir_fd=parent)
    except PermissionError:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        os.chmod(name, 0o700, dir_fd=parent)
        folder = os.open(name, DIRECTORY, dir_fd=parent)
        os.fchmod(folder, mode & 0o7777)
        return folder
