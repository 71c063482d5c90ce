"""The founding documents' own names and dicts, thin over the rest.

`answers`: answer validation without a chat model. `quality`: verification and quality control by its parts.
`answerability`: reranking, inference modes, is it supported. `responses`: verification and correction of a response.
Two documents have a `VerificationResult`: here it is that of `responses`; `quality.VerificationResult` is the other.
"""

from cragraph.api import verify_and_correct
from cragraph.models.embeddings import as_embeddings
from cragraph.validation.answerability import IDK_SENTINEL, INFERENCE_CONFIGS, RerankDoc, rerank, verify_supported
from cragraph.validation.answers import (
    AnswerValidator,
    ValidationConfig,
    get_best_answer,
    log_validation_metrics,
    rag_query_with_retry,
    validate_answer,
)
from cragraph.validation.quality import (
    AnswerVerifier,
    Claim,
    ClaimExtractor,
    ClaimVerification,
    ConfidenceScorer,
    ConsistencyChecker,
    HallucinationDetector,
    ModelConfig,
    NLIVerifier,
    SourceAttributor,
)
from cragraph.validation.responses import (
    ChatResponse,
    ClaimStatus,
    CRAGResult,
    VerificationResult,
    VerifiedClaim,
    chat_with_verification,
    corrective_rag_loop,
    verify_response,
)
from cragraph.verification.policies import calculate_confidence

__all__ = [
    "IDK_SENTINEL", "INFERENCE_CONFIGS", "AnswerValidator", "AnswerVerifier", "CRAGResult", "ChatResponse", "Claim",
    "ClaimExtractor", "ClaimStatus", "ClaimVerification", "ConfidenceScorer", "ConsistencyChecker",
    "HallucinationDetector", "ModelConfig", "NLIVerifier", "RerankDoc", "SourceAttributor", "ValidationConfig",
    "VerificationResult", "VerifiedClaim", "as_embeddings", "calculate_confidence", "chat_with_verification",
    "corrective_rag_loop", "get_best_answer", "log_validation_metrics", "rag_query_with_retry", "rerank",
    "validate_answer", "verify_and_correct", "verify_response", "verify_supported",
]  # fmt: skip
