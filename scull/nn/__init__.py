"""Layers of networks, and what parameters start as."""

from scull.deferred import deferred, listed

NAMES = {
    "": "functional initializer layer loss quant utils",
    "clip": "ClipGradByGlobalNorm ClipGradByNorm ClipGradByValue",
    "decode": "BeamSearchDecoder dynamic_decode",
    "layer.activation": """
        ELU GELU GLU Hardsigmoid Hardswish LeakyReLU LogSoftmax ReLU ReLU6 Sigmoid Silu Softmax
        Softplus Swish Tanh""",
    "layer.adaptive": """
        AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D AdaptiveMaxPool2D
        AdaptiveMaxPool3D""",
    "layer.alignment": "CTCLoss HSigmoidLoss RNNTLoss",
    "layer.attention": "MultiHeadAttention",
    "layer.cell": "GRUCell LSTMCell RNNCellBase SimpleRNNCell",
    "layer.choice": "Maxout RReLU Softmax2D",
    "layer.container": "LayerDict LayerList ParameterList Sequential",
    "layer.convolution": "Conv1D Conv2D Conv3D",
    "layer.dropout": "AlphaDropout Dropout Dropout2D Dropout3D",
    "layer.group_norm": "GroupNorm InstanceNorm1D InstanceNorm2D InstanceNorm3D LocalResponseNorm",
    "layer.layers": "Layer",
    "layer.linear": """
        Bilinear CosineSimilarity Embedding Flatten Identity Linear PairwiseDistance Unflatten""",
    "layer.loss": """
        BCELoss BCEWithLogitsLoss CrossEntropyLoss KLDivLoss L1Loss MSELoss NLLLoss SmoothL1Loss""",
    "layer.margin": """
        CosineEmbeddingLoss GaussianNLLLoss HingeEmbeddingLoss MarginRankingLoss
        MultiLabelSoftMarginLoss MultiMarginLoss PoissonNLLLoss SoftMarginLoss TripletMarginLoss
        TripletMarginWithDistanceLoss""",
    "layer.norm": "BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D LayerNorm SyncBatchNorm",
    "layer.padding": "Pad1D Pad2D Pad3D ZeroPad2D",
    "layer.pooling": "AvgPool1D AvgPool2D AvgPool3D MaxPool1D MaxPool2D MaxPool3D",
    "layer.rnn": "BiRNN GRU LSTM RNN SimpleRNN",
    "layer.shrink": """
        CELU Hardshrink Hardtanh LogSigmoid Mish PReLU SELU Softshrink Softsign Tanhshrink
        ThresholdedReLU""",
    "layer.spectral": "SpectralNorm",
    "layer.transformer": """
        Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
        TransformerEncoderLayer""",
    "layer.transpose": "Conv1DTranspose Conv2DTranspose Conv3DTranspose",
    "layer.unpooling": "MaxUnPool1D MaxUnPool2D MaxUnPool3D",
    "layer.vision": """
        ChannelShuffle Fold PixelShuffle PixelUnshuffle Unfold Upsample UpsamplingBilinear2D
        UpsamplingNearest2D""",
}

MORE = {"utils": "spectral_norm"}  # what is there in Paddle, too, and in none of its lists

__getattr__, __dir__ = deferred(__name__, NAMES, MORE)
__all__ = listed(NAMES)
