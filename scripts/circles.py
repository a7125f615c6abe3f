"""Circles in a graph: a dict from each node to the set of those that it leads to."""


def reached(graph, start):
    found, left = set(), [start]
    while left:
        for node in graph.get(left.pop(), ()):
            if node not in found:
                found.add(node)
                left.append(node)
    return found


def circles(graph):
    """Sets of nodes that reach each other, the largest first."""
    reach = {node: reached(graph, node) for node in graph}
    found = {frozenset(other for other in reach[node] if node in reach.get(other, ()))
             for node in graph if node in reach[node]}
    return sorted(found, key=lambda circle: (-len(circle), sorted(circle)))
