package published

import "testing"

// Secrets are hidden, and nothing else of a command or an address is changed.
func TestSecretsOfDocuments(t *testing.T) {
	for in, want := range map[string]string{
		"vllm serve M --api-key k1 --port 8000":                                                            "vllm serve M --api-key [redacted] --port 8000",
		"vllm serve M --api-key k1 k2 --port 8000":                                                         "vllm serve M --api-key [redacted] --port 8000",
		"vllm serve M --api-key='k 1' -q x":                                                                "vllm serve M --api-key=[redacted] -q x",
		"HF_TOKEN=hf_1 vllm serve M":                                                                       "HF_TOKEN=[redacted] vllm serve M",
		"docker run -e HUGGING_FACE_HUB_TOKEN=hf_1 -p 1:1 vllm/vllm-openai M":                              "docker run -e HUGGING_FACE_HUB_TOKEN=[redacted] -p 1:1 vllm/vllm-openai M",
		"vllm serve M --max-num-batched-tokens 8192 --tokenizer t --ssl-keyfile f --enable-prefix-caching": "vllm serve M --max-num-batched-tokens 8192 --tokenizer t --ssl-keyfile f --enable-prefix-caching",
	} {
		if got := hideLaunchSecrets(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"": "", "http://h:1/v1/": "http://h:1/v1/", "h:8000": "h:8000", "unix:/s": "unix:/s",
		"http://me:pw@h:1/v1?token=x#y": "http://h:1/v1", "https://key@h": "https://h",
		"http://me:p%w@h:1?k=v": "http://h:1", "me:p w%@h": "h",
	} {
		if got := hideURLSecrets(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
