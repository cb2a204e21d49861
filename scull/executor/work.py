"""What the tasks of a run on the host do."""

from scull.core.tensor import stub
from scull.executor.plan import Plan
from scull.executor.run import Frame, examine, explained
from scull.executor.schedule import Schedule


class HostWork:
    """The instructions of a plan, over one frame."""

    def __init__(
        self,
        plan: Plan,
        schedule: Schedule,
        frame: Frame,
        *,
        looks: bool = False,
        known: frozenset[int] = frozenset(),
    ) -> None:
        self.plan, self.looks = plan, looks
        self.known = known  # instructions whose results stand in the frame already
        self.steps, self.lives, self.frame = plan.instructions, schedule.lives, frame

    def perform(self, i: int) -> None:
        if i in self.known:
            return
        step = self.steps[i]
        self.frame[step.put] = step.call(*step.get(self.frame))
        if self.looks:
            examine(self.plan, step, self.frame)

    def release(self, n: int) -> None:
        slot, keeps_shape, _ = self.lives[n]
        self.frame[slot] = stub(self.frame[slot]) if keeps_shape else None

    def explained(self, error: Exception, i: int) -> Exception:
        return explained(error, self.steps[i], self.frame)
