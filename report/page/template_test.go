package page

import (
	"llmsweep/report/lang"
	"strings"
	"testing"
)

// A long text is folded after whole sentences, or within one sentence that lists much, after whole things of the list.
// A short one is not.
func TestFoldText(t *testing.T) {
	things := strings.Repeat("asynchronous@9.83 (the client sent requests late); ", 20)
	for _, c := range []struct {
		text lang.Text
		want string // end of what is shown; empty for all
	}{
		{lang.Text{EN: "Short. And short.", ZH: "短。"}, ""},
		{lang.Text{EN: strings.Repeat("A sentence that says something. ", 20), ZH: strings.Repeat("说明情况的句子。", 20)},
			"something. …"},
		{lang.Text{EN: "The client was the limit: " + things + "end.", ZH: "客户端成为瓶颈：" +
			strings.Repeat("asynchronous@9.83（客户端发送请求过晚）；", 20) + "完。"}, "late); …"},
		{lang.Text{EN: strings.Repeat("word ", 100), ZH: strings.Repeat("字", 100)}, ""},
	} {
		got := foldText(c.text)
		if (got == nil) != (c.want == "") {
			t.Fatalf("%.40s is folded: %v", c.text.EN, got)
		}
		if got != nil && (!strings.HasSuffix(got.EN, c.want) || len(got.EN) > 200) {
			t.Errorf("%q is shown", got.EN)
		}
	}
}
