"""Asking a Milvus whether it answers: one call, without the retries and the logging of its client."""

import base64


def answers(port: int, token: str = "") -> bool:
    import grpc  # type: ignore[import-untyped] # it brings no types, as what is made by it below
    from pymilvus.grpc_gen.milvus_pb2 import ShowCollectionsRequest  # type: ignore[import-untyped]
    from pymilvus.grpc_gen.milvus_pb2_grpc import MilvusServiceStub  # type: ignore[import-untyped]

    signed = [("authorization", base64.b64encode(token.encode()).decode())] if token else []
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            shown = MilvusServiceStub(channel).ShowCollections(ShowCollectionsRequest(), timeout=3, metadata=signed)
        except grpc.RpcError:
            return False
    return bool(shown.status.code == 0)
