"""Modules: a .c file with its header, and the arrows between them."""

import collections
import posixpath
import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DEFINED = re.compile(r"^(?!static)(?:[A-Za-z_][\w ]*[ *])(sc_\w+)\([^;{]*\)\n\{", re.M)
UPWARDS = ("/base/upcalls.h", "/guard/door.h", "/signals/upwards.h")
CALLED = re.compile(r"\b(sc_\w+)\s*\(")


def module_of(path):
    return posixpath.splitext(path)[0]


def folder_of(module):
    return posixpath.dirname(module)


def owners(texts):
    """The module that defines each function of several files."""
    return {match[1]: module_of(path) for path, text in texts.items() if path.endswith(".c")
            for match in DEFINED.finditer(text)}


def upcalls(texts):
    return {name for path, text in texts.items() if path.endswith(UPWARDS)
            for name in CALLED.findall(NOT_CODE.sub(" ", text))}


def arrows(texts):
    """Each module with those that it includes, or whose functions it calls."""
    apart = upcalls(texts)
    owner = {name: module for name, module in owners(texts).items() if name not in apart}
    graph = collections.defaultdict(set)
    for path, text in texts.items():
        own = module_of(path)
        named = [name for name in INCLUDE.findall(text)
                 if name in texts and not name.endswith(UPWARDS)]
        code = "" if path.endswith(".def") else NOT_CODE.sub(" ", text)
        called = [owner[name] for name in CALLED.findall(code) if name in owner]
        graph[own] |= {module_of(name) for name in named} | set(called)
        graph[own].discard(own)
    return dict(graph)


def between_folders(graph):
    folders = {folder_of(module): set() for module in graph}
    for module, others in graph.items():
        folders[folder_of(module)] |= {folder_of(other) for other in others} - {folder_of(module)}
    return folders
