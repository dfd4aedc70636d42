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
    waiting = [_Folder(top, None)]
    try:
        while waiting:
            with waiting.pop() as folder:
                for entry in folder.entries():
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(_Folder(entry.name, folder.descriptor))
                    if total > limit_bytes or len(waiting) > MANY_FOLDERS:
                        return True
                    if time.monotonic() > deadline:
                        return None
        return False
    except OSError:
        return None  # changed meanwhile; while the case runs there is another look
    finally:
        for folder in waiting:
            folder.close()


class _Folder:
    """An open folder, readable while it is open, whatever its mode was and will be again."""

    def __init__(self, name, parent):
        self.mode = None
        try:
            self.descriptor = os.open(name, DIRECTORY, dir_fd=parent)
        except PermissionError:
            self.mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o7777
            os.chmod(name, 0o700, dir_fd=parent)
            self.descriptor = os.open(name, DIRECTORY, dir_fd=parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def entries(self):
        with os.scandir(self.descriptor) as entries:
            yield from entries

    def close(self):
        if self.mode is not None:
            os.fchmod(self.descriptor, self.mode)
        os.close(self.descriptor)
