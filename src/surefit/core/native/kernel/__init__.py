"""Kernels of kernel machines: values between points, and the dual problems that they make.

``smo`` solves the dual of support vector machines of every kind, ``kernel_sums`` adds up kernel values with
weights, which is what such machines answer. Points are dense or CSR rows, or a Gram matrix, and the kernel is
a plain one. To add one: the C++ kernel, its binding and test, and a file here of the same name.
"""

__all__ = ["kernel_sums", "smo"]
