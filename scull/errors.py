"""Every exception scull raises on purpose, each also the builtin that fits.

Some are several: what static mode of Paddle calls a TypeError is a ValueError or a RuntimeError in
its eager mode, and the code of users catches either.

ScullError
  ShapeError            shapes that do not fit together
  DtypeError            an element type an operator does not take
    IndexDtypeError     what picks elements is not of integers
  ArgumentError         a value outside what a parameter accepts
    AssertError         what a Program asserts does not hold
  ArgumentTypeError     a value of a type a parameter does not accept
    SettingError        a strategy has no such setting
    ForwardError        the `forward` of a layer cannot be called
  UnknownSizeError      a body computed with a size known only at run time
  RangeError            an index outside its axis
  ResourceError         a result that takes more memory than there is
  TapeError             the gradient tape cannot do what was asked
  InPlaceError          a tensor that a gradient needs was overwritten
  ProgramError          a Program that is not legal
    UnknownOpError      an operator type nobody declared
    SlotError           an input, output or attribute the operator does not have
  RunError              an Executor cannot run this Program now
    FeedError           a fed value is missing, or has another shape or dtype
    FetchError          a fetched name is not a variable of the Program
    UninitializedError  a persistable variable has no value in the scope
    NumberError         a result holds NaN or infinity, and FLAGS_check_nan_inf is set
  DeviceFault           works on a device that are not ordered, or use freed memory
  FileError             bytes that are not what they should be
    MismatchError       values of other shapes or dtypes than the variables they are for
    UnsafeFileError     a file that would run code or reach outside
  UnsupportedError      something scull does not do, with the reason
    MissingModuleError  it takes a package that is not there
"""

WHERE = "scull_where"  # in the dictionary of an exception: where it came up


class ScullError(Exception):
    """The root of everything scull raises on purpose.

    Its text is the law that was broken, then where: the operator, its operands, the user's line.
    """

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *vars(self).get(WHERE, ())])


def located(error: Exception, where: str) -> Exception:
    """`error` with a text that says where it came up; that of an error not ours is a note."""
    vars(error).setdefault(WHERE, []).append(where)
    if not isinstance(error, ScullError):
        error.add_note(where)
    return error


def is_located(error: BaseException) -> bool:
    """Whether `error` says where it came up."""
    return WHERE in vars(error)


class ShapeError(ScullError, ValueError):
    """Operands whose shapes do not fit together: print their shapes, reshape or transpose one."""


class DtypeError(ScullError, TypeError, ValueError, RuntimeError):
    """An operand has an element type the operator does not take: `cast` it first."""


class IndexDtypeError(DtypeError):
    """What picks elements is not of integers: `cast` it to int64 first."""


class ArgumentError(ScullError, ValueError):
    """A parameter has a value outside the range the message names."""


class AssertError(ArgumentError, AssertionError):
    """What a Program or the reference asserts does not hold.

    Look at the values the message shows: the data that the assertion names, else the condition.
    """


class ArgumentTypeError(ScullError, TypeError, ValueError):
    """A parameter has a value of a type the message names as not accepted."""


class SettingError(ArgumentTypeError, AttributeError):
    """A strategy has no such setting: the message names the nearest it has."""


class ForwardError(ArgumentTypeError, AttributeError):
    """The `forward` of a layer is no function: define it as a method of the class."""


class MissingFileError(ArgumentError, FileNotFoundError):
    """There is no file of the name the message gives."""


class UnknownSizeError(ScullError, TypeError):
    """A body computed with a size not yet known: use `size_of`, `sum_like`, `reduce_mean`."""


class RangeError(ScullError, IndexError, ValueError):
    """An index lies outside its axis or is none: compare it with what the message names."""


class ResourceError(ScullError, MemoryError):
    """A result takes more memory than there is: make the sizes the message names smaller."""


class TapeError(ScullError, RuntimeError):
    """`backward` found no tape, or a freed one: pass `retain_graph=True` or compute it again."""


class InPlaceError(TapeError):
    """A tensor that a gradient needs was overwritten: clone it before the operation named."""


class ProgramError(ScullError, ValueError):
    """A Program breaks a rule that `verify` checks: the message names block and operator."""


class UnknownOpError(ProgramError):
    """No operator of this type is declared: look for a misspelt type."""


class SlotError(ProgramError):
    """The operator has no such input, output or attribute: the message lists those it has."""


class RunError(ScullError, RuntimeError):
    """Something cannot be done now: a Program run in this scope, a step before its time."""


class FeedError(RunError, ValueError):
    """A declared input was not fed, or with another shape or dtype than declared."""


class FetchError(RunError, ValueError):
    """The fetch list names something the Program does not compute."""


class UninitializedError(RunError, ValueError):
    """A persistable variable has no value: run the startup Program in this scope first."""


class NumberError(RunError, ArithmeticError):
    """A result holds NaN or infinity: look at the operands the message shows, which came first."""


class DeviceFault(ScullError, RuntimeError):
    """Two works on a device are not ordered, or one uses freed memory: let one stream wait."""


class FileError(ScullError, ValueError):
    """The bytes of a file are not what its kind demands: it is damaged or of another kind."""


class MismatchError(FileError, RunError):
    """A value has another shape or dtype than its variable: the file is of another Program."""


class UnsafeFileError(FileError):
    """Loading the file would run code it names, or its operators would reach outside.

    scull refuses, whoever wrote it; `allow_ops` lets a model have operators that you know.
    """


class UnsupportedError(ScullError, NotImplementedError):
    """Something scull does not do; the message gives the reason."""


class MissingModuleError(UnsupportedError, ImportError):
    """A package that does the work is not there: the message says what to do without it."""
