"""Kernel models: linear in a feature space that only a kernel of two rows knows.

``base.py`` is what they share: which kernel the parameters mean, what may be compared (rows, sparse rows,
objects, a matrix of all pairs), and blocks of kernel values on all threads. ``kernel_ridge`` and
``gaussian_process_regressor`` solve one positive definite system, ``kernel_logistic`` is a linear
classifier in coordinates of the feature space, ``kernel_pca`` its leading axes. ``nystroem`` and
``rbf_sampler`` write few features down whose inner products are nearly the kernel, on centres that
``centres`` chooses; ``centre_ridge`` fits rows past memory on them. ``svm`` has the support vector machines.

To add one: derive from ``KernelModel`` and write ``_learn`` and ``_certify`` as for any estimator.
"""

__all__ = ["base", "gaussian_process_regressor", "kernel_pca", "nystroem"]
