"""Images for tests, made from nothing: a program that says things, and a file system unlike the host's."""

import pathlib
import subprocess

# `cat FILE`, `say WORDS`, `whoami`: enough to see where a job runs.
PROGRAM = r"""
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  const char* me = basename(argv[0]);
  if (strcmp(me, "whoami") == 0) return printf("%d\n", (int)getuid()), 0;
  if (strcmp(me, "cat") == 0) {
    FILE* in = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!in) return perror(argc == 2 ? argv[1] : "cat"), 1;
    for (int c; (c = getc(in)) != EOF;) putchar(c);
    return 0;
  }
  for (int i = 1; i < argc; i++) printf("%s%s", argv[i], i + 1 < argc ? " " : "\n");
  return 0;
}
"""
OS_RELEASE = 'NAME="an image of a test"\n'


def program(folder):
    """The program, built static in this folder."""
    folder = pathlib.Path(folder)
    (folder / "program.c").write_text(PROGRAM)
    built = folder / "program"
    subprocess.run(["gcc", "-static", "-O1", "-w", "-o", str(built), str(folder / "program.c")], check=True)
    return built


def files(folder):
    """What is in the image: path there → file here."""
    built = program(folder)
    release = pathlib.Path(folder) / "os-release"
    release.write_text(OS_RELEASE)
    return {"/bin/cat": built, "/bin/say": built, "/bin/whoami": built, "/etc/os-release": release}


def small_image(engine, folder, name="small:1", *changes):
    """An image whose own entry, user and health check would all be wrong for a worker."""
    return engine.image_from_scratch(name, files(folder), ["/bin/not-there"], "USER 1234", "WORKDIR /etc",
                                     "ENV PATH=/bin MARK=image", *changes)
