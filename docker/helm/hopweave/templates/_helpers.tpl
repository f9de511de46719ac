{{- define "hopweave.name" -}}
{{- if contains "hopweave" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-hopweave" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "hopweave.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "hopweave.name" .) }}
{{- end }}

{{/* Labels that select the pods of a part: (dict "root" $ "part" "api"). */}}
{{- define "hopweave.selector" -}}
app.kubernetes.io/name: hopweave
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "hopweave.labels" -}}
app.kubernetes.io/name: hopweave
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The specification of a pod: (dict "root" $ "part" "api" "of" .Values.api "container" YAML of what differs). */}}
{{- define "hopweave.pod" -}}
metadata:
  labels:
    {{- include "hopweave.selector" . | nindent 4 }}
  annotations:
    checksum/settings: {{ .root.Values.settings | toJson | sha256sum }}
spec:
  serviceAccountName: {{ include "hopweave.serviceAccount" .root }}
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ .of.drainSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile:
      type: RuntimeDefault
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .part }}
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      {{- .container | nindent 6 }}
      envFrom:
        - configMapRef:
            name: {{ include "hopweave.name" .root }}
      env:
        {{- range concat .root.Values.secret.all (ternary .root.Values.secret.api list (eq .part "api")) }}
        - name: {{ . }}
          valueFrom:
            secretKeyRef:
              name: {{ $.root.Values.secret.name | quote }}
              key: {{ . }}
        {{- end }}
      resources:
        {{- toYaml .of.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
      volumeMounts:
        - name: data
          mountPath: /var/lib/hopweave
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: data
      emptyDir:
        sizeLimit: {{ .of.disk }}
    - name: tmp
      emptyDir:
        sizeLimit: {{ .of.disk }}
  {{- with .of.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
