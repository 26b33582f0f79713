"""The few operations of Torch that the worker uses, in plain Python: the default tests need no Torch.

Tensors are lists of numbers with a shape and strides of whole steps; results are the numbers that Torch gives.
"""

import array

uint8, int16, int32, float32 = "B", "h", "i", "f"


class Tensor:
    def __init__(self, data, shape, strides=None):
        self.data, self.shape = data, tuple(shape)
        self.strides = tuple(strides or contiguous(self.shape))

    def numel(self):
        count = 1
        for side in self.shape:
            count *= side
        return count

    def reshape(self, *shape):
        return Tensor(self.tolist_flat(), shape)

    def permute(self, *order):
        return Tensor(self.data, [self.shape[i] for i in order], [self.strides[i] for i in order])

    def expand(self, *shape):
        strides = [0 if side != own else stride for side, own, stride in zip(shape, self.shape, self.strides)]
        return Tensor(self.data, shape, strides)

    def to(self, dtype):
        return Tensor(list(self.tolist_flat()), self.shape)

    def bitwise_and(self, mask):
        return Tensor([value & mask for value in self.tolist_flat()], self.shape)

    def copy_(self, other):
        assert self.shape == other.shape, (self.shape, other.shape)
        self.data[:] = list(other.tolist_flat())
        return self

    def div_(self, number):
        self.data[:] = array.array("f", (value / number for value in self.data))
        return self

    def item(self):
        return self.tolist_flat()[0]

    def flatten(self):
        return Tensor(self.tolist_flat(), (self.numel(),))

    def tolist(self):
        return list(self.tolist_flat())

    def tolist_flat(self):
        if self.strides == contiguous(self.shape):
            return self.data
        offsets = [0]
        for side, stride in zip(self.shape, self.strides):
            offsets = [offset + step * stride for offset in offsets for step in range(side)]
        return [self.data[offset] for offset in offsets]


def contiguous(shape):
    strides, step = [], 1
    for side in reversed(shape):
        strides.append(step)
        step *= side
    return tuple(reversed(strides))


def frombuffer(buffer, dtype, count):
    values = array.array(dtype)
    values.frombytes(memoryview(buffer)[: count * values.itemsize])
    return Tensor(values, (count,))


def empty(shape, dtype):
    return Tensor([0.0] * Tensor(None, shape).numel(), shape)


def manual_seed(seed):
    pass
