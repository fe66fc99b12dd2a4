"""Several rounds, each measuring every contender once: the machine is shared and noisy, but a moment is shared by all of
them. What is reported is the median of the rounds, and the median of the ratios within a round."""

import statistics
import subprocess
import sys

from suite.processes import Trouble


def say(text):
    print(text, file=sys.stderr, flush=True)


class Rounds:
    """What several contenders did, round by round."""

    def __init__(self, contenders, rounds, what):
        """`contenders`: name → a function that measures once and answers with a dictionary."""
        self.facts = {name: [] for name in contenders}
        self.trouble = {}
        for number in range(rounds):
            # Every second round the other way round: nobody always comes first.
            for name, run in list(contenders.items())[:: -1 if number % 2 else 1]:
                if name in self.trouble:
                    continue
                try:
                    self.facts[name].append(run())
                    say(f"  {what}, round {number + 1} of {rounds}: {name} {brief(self.facts[name][-1])}")
                except (Trouble, OSError, ValueError, subprocess.SubprocessError) as trouble:
                    self.trouble[name] = str(trouble)
                    say(f"  {what}: {name}: {trouble}")

    def has(self, name):
        return name not in self.trouble and bool(self.facts.get(name))

    def values(self, name, key):
        return [facts[key] for facts in self.facts[name]]

    def median(self, name, key):
        return statistics.median(self.values(name, key))

    def ratio(self, name, other, key):
        return statistics.median(a / b if b else 0 for a, b in zip(self.values(name, key), self.values(other, key)))

    def middle(self, name, key):
        """The facts of the round whose `key` is in the middle."""
        ordered = sorted(self.facts[name], key=lambda facts: facts[key])
        return ordered[len(ordered) // 2]


def brief(facts):
    shown = [f"{key} {value:,.4g}" if value < 100 else f"{key} {value:,.0f}"
             for key, value in facts.items() if isinstance(value, (int, float)) and key not in ("failed", "seconds", "count")]
    return ", ".join(shown)
